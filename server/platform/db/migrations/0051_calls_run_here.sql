-- Parts of calls that the service ran or closed itself say so: an application is shown only the calls that it was asked
-- to run, which alone have a time at which they expire.
update messages set parts = marked.parts
from (
  select messages.id, jsonb_agg(
    case when part ->> 'type' in ('tool-call', 'tool-result') and not exists (
      select from tool_calls where tool_calls.account_id = messages.account_id
        and tool_calls.id::text = part ->> 'toolCallId' and tool_calls.expires_at is not null)
    then part || '{"providerExecuted": true}' else part end order by place) as parts
  from messages, jsonb_array_elements(messages.parts) with ordinality as element (part, place)
  where messages.role = 'assistant' and messages.parts @> '[{"type": "tool-call"}]'
  group by messages.id
) as marked
where messages.id = marked.id;
