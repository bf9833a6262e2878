import { SecretDialog } from '../../../components/forms/secret-dialog';

interface Props {
  client: string;
  key: string;
}

/** Shows a new key once. */
export function NewKeyDialog({ of, close }: { of: Props; close: () => void }) {
  return (
    <SecretDialog title={`The new key of ${of.client}`} name="the key" secret={of.key} close={close}>
      Give it to the app as a secret. The app sends it in the header X-API-Key.
    </SecretDialog>
  );
}
