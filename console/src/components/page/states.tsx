import { Alert, Button, List, Skeleton, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { faultsOf, messageOf } from '../../api/problem';

/** Placeholder for data that is loading. */
export function Loading({ lines = 3, label = 'Loading' }: { lines?: number | undefined; label?: string }) {
  return (
    <Stack gap="xs" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} h={28} />
      ))}
    </Stack>
  );
}

/** Explains why there is no data, and the next step. */
export function Empty({ children }: { children: ReactNode }) {
  return (
    <Text c="dimmed" ta="center" py="xl">
      {children}
    </Text>
  );
}

/** Shows the proxy's error message. */
export function Failure({ error, retry }: { error: unknown; retry?: (() => unknown) | undefined }) {
  const faults = Object.entries(faultsOf(error));
  return (
    <Alert color="red" variant="light" role="alert" title="This could not be loaded">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{messageOf(error)}</Text>
        {faults.length > 0 && (
          <List size="sm">
            {faults.map(([name, detail]) => (
              <List.Item key={name}>
                <b>{name}</b> {detail}
              </List.Item>
            ))}
          </List>
        )}
        {retry && (
          <Button size="xs" variant="default" onClick={() => void retry()}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

interface QueryResult<Data> {
  data: Data | undefined;
  error: unknown;
  refetch: () => unknown;
}

/** Shows a query as loading, failed, or loaded. */
export function Answer<Data>({
  of,
  children,
  lines,
}: {
  of: QueryResult<Data>;
  children: (data: Data) => ReactNode;
  lines?: number;
}) {
  if (of.data !== undefined) return children(of.data);
  if (of.error) return <Failure error={of.error} retry={of.refetch} />;
  return <Loading lines={lines} />;
}
