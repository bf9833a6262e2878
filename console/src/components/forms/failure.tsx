import { Alert, Button, Stack, Text } from '@mantine/core';
import { ApiProblem, messageOf } from '../../api/problem';
import { hasProvider, signInAddress } from '../../api/provider';

/** Failures of forms whose values are stored until the author has signed in again. */
export const failuresWithDraft = new WeakSet<object>();

/** Shows why an action failed. If the action needs a recent sign-in, it links to the provider. */
export function Failure({ failure }: { failure: unknown }) {
  if (failure instanceof ApiProblem && failure.code === 'step_up_required' && hasProvider) {
    return <StepUp isKept={failuresWithDraft.has(failure)} />;
  }
  return (
    <Alert color="red" role="alert">
      {messageOf(failure)}
    </Alert>
  );
}

function StepUp({ isKept }: { isKept: boolean }) {
  return (
    <Alert color="orange" role="alert" title="Prove who you are">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          This action needs a recent sign-in. Nothing was changed. Sign in again to return to this page.{' '}
          {isKept && 'Your input is kept. Open the form again to continue.'}
        </Text>
        <Button component="a" href={signInAddress({ stepUp: true })} size="xs">
          Sign in again
        </Button>
      </Stack>
    </Alert>
  );
}
