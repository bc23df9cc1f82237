-- Styles as the published service has them: on phones, values of their own with a switch; suggestions as a list.
update agents set styles = styles
  || jsonb_build_object('chat', coalesce(styles -> 'chat', '{}') || case
    when styles -> 'chat' -> 'mobile' is null then '{}'
    else jsonb_build_object('mobile', (styles -> 'chat' -> 'mobile') || jsonb_build_object(
      'initialMessages', jsonb_build_object(
        'enabled', coalesce(styles -> 'chat' -> 'mobile' ->> 'initialMessages' = 'false', false),
        'value', '[]'::jsonb),
      'autoOpenChatWindowAfter', jsonb_build_object(
        'enabled', styles -> 'chat' -> 'mobile' ->> 'autoOpenChatWindowAfter' is not null,
        'value', coalesce((styles -> 'chat' -> 'mobile' ->> 'autoOpenChatWindowAfter')::numeric, 0)),
      'showAutoOpen', styles -> 'chat' -> 'mobile' ->> 'showAutoOpen' = 'true'
        or styles -> 'chat' -> 'mobile' ->> 'autoOpenChatWindowAfter' is null)) end,
    'centerStage', coalesce(styles -> 'centerStage', '{}') || '{"suggestedMessages": []}'::jsonb)
where jsonb_typeof(styles -> 'chat' -> 'mobile' -> 'initialMessages') is distinct from 'object';
