import { Checkbox, MultiSelect, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core';
import { type Draft, type Faults, LABELS } from './draft';

interface Props {
  draft: Draft;
  faults: Faults;
  change: (change: Partial<Draft>) => void;
}

/** The identity provider whose access tokens a client takes. */
export function ProviderFields({ draft, faults, change }: Props) {
  return (
    <Stack gap="sm">
      <div>
        <Title order={3} size="sm">
          Identity provider
        </Title>
        <Text size="xs" c="dimmed">
          People of this client may send access tokens of this provider. To take no tokens, remove the issuer.
        </Text>
      </div>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {TEXTS.map(({ name, description, placeholder }) => (
          <TextInput
            key={name}
            {...{ label: LABELS[name], description, placeholder, autoComplete: 'off', value: draft[name] }}
            error={faults[name]}
            onChange={({ currentTarget: { value } }) => change({ [name]: value.trim() })}
          />
        ))}
      </SimpleGrid>
      <MultiSelect
        {...{ label: LABELS.token_algorithms, data: ALGORITHMS, value: draft.token_algorithms }}
        description="Algorithms that its tokens may be signed with. A new provider has the usual ones."
        error={faults.token_algorithms}
        onChange={(value) => change({ token_algorithms: ALGORITHMS.filter((one) => value.includes(one)) })}
      />
      <Checkbox
        label={LABELS.token_dpop}
        description="Tokens that are not bound to a key of the app (DPoP) are rejected."
        checked={draft.token_dpop}
        error={faults.token_dpop}
        onChange={({ currentTarget: { checked } }) => change({ token_dpop: checked })}
      />
    </Stack>
  );
}

type TextName = 'token_issuer' | 'token_audience' | 'token_jwks_uri' | 'token_client_id';

const TEXTS: { name: TextName; description: string; placeholder: string }[] = [
  { name: 'token_issuer', description: 'As its tokens name it (iss).', placeholder: 'https://id.example' },
  { name: 'token_audience', description: 'As its tokens name this API (aud).', placeholder: 'https://pay.example' },
  { name: 'token_jwks_uri', description: 'Where its public keys are.', placeholder: 'https://id.example/jwks' },
  { name: 'token_client_id', description: 'As its tokens name the app (client_id).', placeholder: 'phone-app' },
];

const ALGORITHMS = [
  'ES256',
  'ES384',
  'ES512',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'EdDSA',
  'Ed25519',
] satisfies Draft['token_algorithms'];
