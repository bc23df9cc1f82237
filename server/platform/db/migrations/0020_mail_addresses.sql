-- By these a person's threads are found without reading those of everybody; those of mails by whom they answer, for
-- the contact may be gone, or have another address by now.
create index channel_threads_peer on channel_threads (account_id, lower(peer));
create index channel_threads_mail_address on channel_threads (account_id, lower(data #>> '{to,address}'))
  where channel = 'email';
