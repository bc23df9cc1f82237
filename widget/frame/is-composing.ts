/**
 * Whether a key event belongs to an input method. Safari ends the composition first and reports its last key as 229.
 */
export const isComposing = ({ isComposing, keyCode }: KeyboardEvent): boolean =>
  isComposing || keyCode === 229
