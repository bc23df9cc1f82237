const pageForm =
  /^(?:https?:\/\/\S*[/-])?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})(?:[?#]\S*)?$/i

/** Says of a text that names no page what would. */
export const refusePageId = (text: string): string | null =>
  pageForm.test(text.trim()) ? null : 'Must be the id or the web address of a page.'

/** A UUID with dashes. Ids come with and without them; the end of a page's web address is one, too. */
export const pageIdOf = (text: string): string =>
  text.trim().replace(pageForm, '$1-$2-$3-$4-$5').toLowerCase()
