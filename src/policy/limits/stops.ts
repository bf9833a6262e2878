/** An active stop. With both fields null, it stops everything that pays or writes. */
export interface Stop {
  id: string;
  /** Its client. Null for all clients. */
  clientId: string | null;
  /** Its operation, for all clients. Null for all operations. */
  operation: string | null;
  /** Its reason, shown to rejected callers. */
  reason: string;
  /** The proxy's own cause. Null or undefined if a person set it. */
  cause?: 'database_behind' | null;
}

/** Returns the first stop that applies to a request. Stops apply only to operations that pay or write. */
export function stopFor(stops: Stop[], request: { clientId: string; operation: string }): Stop | undefined {
  return stops.find(({ clientId, operation }) => {
    if (clientId !== null) return clientId === request.clientId;
    return operation === null || operation === request.operation;
  });
}
