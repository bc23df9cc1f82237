/** An uploaded file. */
export const MAX_FILE_BYTES = 20 * 1_048_576
/** A JSON body: a text of 1,048,576 characters may take several bytes for each, escaped. */
export const MAX_JSON_BYTES = 8 * 1_048_576
