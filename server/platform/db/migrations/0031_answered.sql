-- Whether a customer waits for an answer, stored instead of derived from all generations of the conversation: the cost
-- of asking does not grow with its length.
alter table conversations
  -- The number of the customer's newest message, and of the newest one that is answered: by a reply to it or to a later
  -- one, or by a person who has written after it.
  add column asked_seq integer not null default 0,
  add column answered_seq integer not null default 0,
  -- Since the newest message: replies that came to nothing, and how often the agent has gone on from results.
  add column answer_tries smallint not null default 0,
  add column continuations smallint not null default 0,
  -- Somebody has stopped the reply to the newest message before its first word.
  add column answer_stopped boolean not null default false,
  -- When the sweep last asked for an answer.
  add column answer_swept_at timestamptz(3);

-- The number of the message that a generation answers.
alter table generations add column asked_seq integer not null default 0;
update generations set asked_seq = messages.seq from messages
  where messages.id = user_message_id and messages.conversation_id = generations.conversation_id;

update conversations set asked_seq = asked.seq from (
  select conversation_id, max(seq) as seq from messages where role = 'user' group by 1
) as asked where asked.conversation_id = conversations.id;
update conversations set answered_seq = answered.seq from (
  select conversation_id, max(seq) as seq from (
    select conversation_id, asked_seq as seq from generations where message_state <> 'none'
    union all
    select conversation_id, seq from messages where metadata ? 'author'
  ) as said group by 1
) as answered where answered.conversation_id = conversations.id;
update conversations set
  answer_tries = tried.failed, continuations = tried.continuations, answer_stopped = tried.stopped > 0
from (
  select generations.conversation_id,
    count(*) filter (where message_state = 'none' and stop_reason is null and generations.status in ('failed', 'interrupted')) as failed,
    count(*) filter (where message_state = 'none' and stop_reason = 'stop') as stopped,
    count(*) filter (where kind = 'continuation') as continuations
  from generations join conversations as asking
    on asking.id = generations.conversation_id and asking.asked_seq = generations.asked_seq
  group by 1
) as tried where tried.conversation_id = conversations.id;

create index conversations_unanswered on conversations (updated_at)
  where asked_seq > answered_seq and status = 'ongoing' and (thread_id is not null or source = 'Widget or Iframe');
