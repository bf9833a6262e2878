import { Alert, List, Text } from '@mantine/core';
import { ApiProblem, messageOf } from '../../api/problem';

/** Most errors that are listed. */
const MOST = 20;

/** Shows why a request was rejected, with the errors that the proxy named. */
export function ProblemAlert({ error }: { error: unknown }) {
  const faults = (error instanceof ApiProblem && error.problem?.errors) || [];
  return (
    <Alert color="red" variant="light" role="alert">
      <Text size="sm">{messageOf(error)}</Text>
      {faults.length > 0 && (
        <List size="sm" mt={4}>
          {faults.slice(0, MOST).map(({ pointer, detail }) => (
            <List.Item key={pointer + detail}>
              {namedBy(pointer)} {detail}
            </List.Item>
          ))}
          {faults.length > MOST && <List.Item>and {faults.length - MOST} more</List.Item>}
        </List>
      )}
    </Alert>
  );
}

/** Turns `/as_of` into `as of`. Empty for the whole body. */
const namedBy = (pointer: string) => pointer.slice(1).replaceAll(/[/_]/g, ' ');
