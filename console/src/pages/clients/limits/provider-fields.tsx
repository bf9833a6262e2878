import { Checkbox, MultiSelect, NumberInput, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core';
import { type Draft, type Faults, LABELS } from './draft';

interface Props {
  draft: Draft;
  faults: Faults;
  change: (change: Partial<Draft>) => void;
}

/** Fields of the identity provider whose access tokens a client accepts. */
export function TokenProviderFields(props: Props) {
  const { draft, faults, change } = props;
  return (
    <Stack gap="sm">
      <FormHeading title="Provider of access tokens">
        The client accepts access tokens of this provider. To accept none, remove the issuer.
      </FormHeading>
      <TextFields {...props} of={TOKEN_TEXTS} />
      <MultiSelect
        label={LABELS.token_algorithms}
        data={ALGORITHMS}
        value={draft.token_algorithms}
        description="Accepted signature algorithms. A new provider starts with the most common ones."
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
      <NumberInput
        label={LABELS.token_max_age}
        description="Older tokens are rejected, even if they have not expired."
        allowDecimal={false}
        allowNegative={false}
        hideControls
        value={draft.token_max_age}
        error={faults.token_max_age}
        onChange={(value) => change({ token_max_age: Number(value) })}
      />
    </Stack>
  );
}

/** Fields of the OpenID provider at which people sign in to the pages of a client. */
export function PageProviderFields(props: Props) {
  return (
    <Stack gap="sm">
      <FormHeading title="Provider of page sessions">
        People sign in at this provider on pages of the web origins above. Their browser holds a cookie and no
        token. To end all sessions, remove the issuer.
      </FormHeading>
      <TextFields {...props} of={PAGE_TEXTS} />
    </Stack>
  );
}

/** Heading of a part of a form, with its purpose. */
export function FormHeading({ title, children }: { title: string; children: string }) {
  return (
    <div>
      <Title order={3} size="sm">
        {title}
      </Title>
      <Text size="xs" c="dimmed">
        {children}
      </Text>
    </div>
  );
}

interface TextField {
  name: Exclude<
    Extract<keyof Draft, `token_${string}` | `page_${string}`>,
    'token_algorithms' | 'token_dpop' | 'token_max_age'
  >;
  description: string;
  placeholder: string;
}

function TextFields({ of, draft, faults, change }: Props & { of: TextField[] }) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      {of.map(({ name, description, placeholder }) => (
        <TextInput
          key={name}
          label={LABELS[name]}
          description={description}
          placeholder={placeholder}
          autoComplete="off"
          value={draft[name]}
          error={faults[name]}
          onChange={({ currentTarget: { value } }) => change({ [name]: value.trim() })}
        />
      ))}
    </SimpleGrid>
  );
}

const TOKEN_TEXTS: TextField[] = [
  { name: 'token_issuer', description: 'Value of iss in its tokens.', placeholder: 'https://id.example' },
  {
    name: 'token_audience',
    description: 'Value of aud in its tokens.',
    placeholder: 'https://pay.example',
  },
  {
    name: 'token_jwks_uri',
    description: 'URL of its public keys.',
    placeholder: 'https://id.example/jwks',
  },
  {
    name: 'token_client_id',
    description: 'Value of client_id in its tokens.',
    placeholder: 'phone-app',
  },
];

const PAGE_TEXTS: TextField[] = [
  { name: 'page_issuer', description: 'Its issuer identifier (iss).', placeholder: 'https://id.example' },
  { name: 'page_client_id', description: 'Its ID of the client (client_id).', placeholder: 'shop-pages' },
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
