/** What is searched begins with the month so long before this one (service-api, "Limits"). */
export const SEARCHED_MONTHS = 12
