-- The last day (UTC, YYYY-MM-DD) whose mails to the owners were asked for; see server/notifications.
alter table agents add column notified_day text;
