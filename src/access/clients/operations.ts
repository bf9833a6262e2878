/**
 * Returns the operations that a client may use, from its row. Null means all of them. Prisma returns an empty list for
 * null, and the database holds no empty list.
 */
export function allowedOperations({ operations }: { operations: string[] }): string[] | null {
  return operations.length > 0 ? operations : null;
}
