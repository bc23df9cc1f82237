/** The key belongs to an input method. Safari ends the composition first and names its last key 229. */
export const isComposing = ({ isComposing, keyCode }: KeyboardEvent): boolean =>
  isComposing || keyCode === 229
