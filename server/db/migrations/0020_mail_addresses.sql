-- Threads of mails are found by whom they answer: the contact may be gone, or have another address by now.
create index channel_threads_mail_address on channel_threads (account_id, lower(data #>> '{to,address}'))
  where channel = 'email';
