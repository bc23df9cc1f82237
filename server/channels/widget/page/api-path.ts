/** The path of the widget's API. The widget imports it, so this file imports nothing. */
export const WIDGET_API = '/api/widget'
