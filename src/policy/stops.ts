/** A stop that holds. Both null: it stops everything that pays or writes. */
export interface Stop {
  id: string;
  /** The client that it stops. */
  clientId: string | null;
  /** The operation that it stops, for all clients. */
  operation: string | null;
  /** For people: who is refused reads it. */
  reason: string;
}

/** The first of the stops that holds a request back. Only operations that pay or write are held back. */
export function stopFor(stops: Stop[], request: { clientId: string; operation: string }): Stop | undefined {
  return stops.find(({ clientId, operation }) => {
    if (clientId !== null) return clientId === request.clientId;
    return operation === null || operation === request.operation;
  });
}

/** What a stop says to those whom it holds back. */
export function refusalText({ clientId, operation, reason }: Stop): string {
  const what = clientId !== null ? 'your client' : (operation ?? 'all payouts and writes');
  return `The operator has stopped ${what}. Nothing was sent. Reason: ${reason}`;
}
