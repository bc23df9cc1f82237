-- Sources that are not trained are counted whenever one is added.
create index sources_unfinished on sources (account_id) where status in ('untrained', 'updated');
