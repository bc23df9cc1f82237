/** Returns whether a statement failed because of the constraint or unique index with this name. */
export const violates = (error: unknown, constraint: string): boolean =>
  error instanceof Error && 'constraint' in error && error.constraint === constraint
