import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { http } from '../../api/client';
import { useSession } from '../../api/session';
import { Failure } from '../../components/forms/failure';
import { useSubmit } from '../../components/forms/form';
import { useGate } from '../../components/forms/gate';
import { SecretDialog } from '../../components/forms/secret-dialog';
import { Page } from '../../components/page/page';

/** Gives a person the key that two administrators approved. */
export default function ClaimPage() {
  const { session } = useSession();
  const isSignedIn = session.signed_in_with === 'provider';
  const [what, setWhat] = useState('');
  const [key, setKey] = useState<string>();
  const { failure, busy, onSubmit } = useSubmit(async () => {
    const text = what.trim();
    const body = text.startsWith('ppc_') ? { code: text } : { key_id: text };
    const { data } = await http.POST('/v1/key-claims', { body });
    setWhat('');
    setKey(data?.key);
  });
  const gate = useGate(what.trim() === '' ? 'Enter the ID or the code first.' : undefined);
  return (
    <Page title="Claim a key" lead="Your own key, after two administrators have approved it.">
      <form onSubmit={onSubmit} noValidate>
        <Stack maw="70ch">
          <TextInput
            label={isSignedIn ? 'ID of your key, or its claim code' : 'Claim code'}
            description={
              isSignedIn
                ? 'Ask an administrator for the ID. It is listed among the keys of your client.'
                : 'The administrator who approved the key has the code. The key can never decide about ' +
                  'requests of that administrator.'
            }
            autoComplete="off"
            value={what}
            onChange={({ currentTarget: { value } }) => setWhat(value)}
          />
          {failure !== undefined && <Failure failure={failure} />}
          <Group>
            <Button type="submit" loading={busy} {...gate.button}>
              Claim
            </Button>
            {gate.hint}
          </Group>
        </Stack>
      </form>
      {key !== undefined && (
        <SecretDialog title="Your key" name="the key" secret={key} close={() => setKey(undefined)}>
          Keep it to yourself. Your commands and programs send it in the header X-API-Key.
        </SecretDialog>
      )}
    </Page>
  );
}
