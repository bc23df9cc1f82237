/** The filters of the list of conversations, as they appear in the URL. */
export type Filters = {
  query?: string
  source?: string
  sentiment?: string
  feedback?: string
  escalated?: 'true'
  startDate?: string
  endDate?: string
  topic?: string
}
