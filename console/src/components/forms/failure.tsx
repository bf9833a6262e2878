import { Alert, Button, Stack, Text } from '@mantine/core';
import { ApiProblem, messageOf } from '../../api/problem';
import { hasProvider, signInAddress } from '../../api/provider';

/** Failures of forms whose values are kept until their author has signed in again. */
export const failuresWithDraft = new WeakSet<object>();

/** Shows why an action failed. If a person has to prove who they are, it leads them to the provider. */
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
          This needs a recent sign-in. Nothing was changed. Sign in again, and you return to this page.{' '}
          {isKept && 'What you entered is kept. Open the form again to go on.'}
        </Text>
        <Button component="a" href={signInAddress({ stepUp: true })} size="xs">
          Sign in again
        </Button>
      </Stack>
    </Alert>
  );
}
