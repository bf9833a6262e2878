/** An active stop. If both are null, it stops everything that pays or writes. */
export interface Stop {
  id: string;
  /** The client that it stops. */
  clientId: string | null;
  /** The operation that it stops, for all clients. */
  operation: string | null;
  /** The reason, which rejected callers see. */
  reason: string;
  /** Why the proxy set it by itself. Null or undefined: a person set it. */
  cause?: 'database_behind' | null;
}

/** Returns the first stop that applies to a request. Stops apply only to operations that pay or write. */
export function stopFor(stops: Stop[], request: { clientId: string; operation: string }): Stop | undefined {
  return stops.find(({ clientId, operation }) => {
    if (clientId !== null) return clientId === request.clientId;
    return operation === null || operation === request.operation;
  });
}
