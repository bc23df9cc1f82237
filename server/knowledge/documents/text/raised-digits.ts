const RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹'

/** Returns a raised number as raised digits, because "10" and "3" are not "103"; another text as it is. */
export const raisedDigits = (text: string): string =>
  /^\d{1,3}$/.test(text) ? text.replace(/\d/g, (digit) => RAISED[Number(digit)]!) : text
