/** The filters of the list of conversations, as they appear in the URL; undefined for none. */
export type Filters = {
  query?: string | undefined
  source?: string | undefined
  sentiment?: string | undefined
  feedback?: string | undefined
  escalated?: 'true' | undefined
  startDate?: string | undefined
  endDate?: string | undefined
  topic?: string | undefined
}
