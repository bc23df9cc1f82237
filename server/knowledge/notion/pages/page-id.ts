const pageForm =
  /^(?:https?:\/\/\S*[/-])?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})(?:[?#]\S*)?$/i

/** Returns a sentence for a text that does not identify a page. */
export const refusePageId = (text: string): string | null =>
  pageForm.test(text.trim()) ? null : 'Must be the id or the web address of a page.'

/** Returns a UUID with dashes. Ids are written with and without them, and at the end of a page's URL. */
export const pageIdOf = (text: string): string =>
  text.trim().replace(pageForm, '$1-$2-$3-$4-$5').toLowerCase()
