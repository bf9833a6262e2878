/**
 * The operations of the interface that a client may use, out of its row; null is all of them. Prisma shows no list as an
 * empty one, and the database holds none that is empty.
 */
export function allowedOperations({ operations }: { operations: string[] }): string[] | null {
  return operations.length > 0 ? operations : null;
}
