-- compatible_from: 0076
-- What a model was asked for: answers to customers, or something beside them. While processes of before this run, they do
-- not count, and say so in the log.
alter table model_usage add column purpose text not null default 'answer';
alter table model_usage drop constraint model_usage_pkey;
alter table model_usage add primary key (account_id, day, agent_id, model, purpose);
