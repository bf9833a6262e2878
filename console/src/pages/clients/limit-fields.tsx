import { Checkbox, MultiSelect, NumberInput, SimpleGrid, Stack, TagsInput, TextInput } from '@mantine/core';
import { operationNameValues as OPERATIONS } from '../../api/generated/schema';
import { type Draft, type Faults, LABELS } from './draft';
import { FormHeading, PageProviderFields, TokenProviderFields } from './provider-fields';
import { ScopesField } from './scopes-field';

interface Props {
  draft: Draft;
  faults: Faults;
  change: (change: Partial<Draft>) => void;
}

/** The permissions and limits of a client. */
export function LimitFields(props: Props) {
  return (
    <Stack>
      <ScopesField {...props} scopes={props.draft.scopes} />
      <OperationsField {...props} />
      <Amounts {...props} money={MONEY} counts={COUNTS} />
      {WORDS.map((field) => (
        <WordsField key={field.name} {...props} {...field} />
      ))}
      <Checkbox
        label="Requires an Idempotency-Key"
        description="Payments and writes without an Idempotency-Key are rejected."
        checked={props.draft.require_idempotency_key}
        error={props.faults.require_idempotency_key}
        onChange={({ currentTarget: { checked } }) => props.change({ require_idempotency_key: checked })}
      />
      <Checkbox
        label="Pays only registered recipients"
        description="Payouts to recipients that are not in the client's register are rejected."
        checked={props.draft.beneficiaries_only}
        error={props.faults.beneficiaries_only}
        onChange={({ currentTarget: { checked } }) => props.change({ beneficiaries_only: checked })}
      />
      <FormHeading title="Limits of each person">
        Each person of the client pays and asks no more, unless the person has other limits. Then every payment must
        name its person.
      </FormHeading>
      <Amounts {...props} money={PERSON_MONEY} counts={PERSON_COUNTS} />
      <TokenProviderFields {...props} />
      <PageProviderFields {...props} />
    </Stack>
  );
}

interface AmountsProps extends Props {
  money: Field<MoneyName>[];
  counts: Field<CountName>[];
}

/** A grid of fields. Those beside each other end at the same line, however long their descriptions are. */
function Amounts({ money, counts, ...props }: AmountsProps) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} style={{ alignItems: 'end' }}>
      {money.map((field) => (
        <MoneyField key={field.name} {...props} {...field} />
      ))}
      {counts.map((field) => (
        <CountField key={field.name} {...props} {...field} />
      ))}
    </SimpleGrid>
  );
}

type NameOf<Value> = { [Name in keyof Draft]: Draft[Name] extends Value ? Name : never }[keyof Draft];

interface Field<Name> {
  name: Name;
  description: string;
}

type MoneyName = Extract<NameOf<string>, `${string}_usd`>;

const MONEY: Field<MoneyName>[] = [
  { name: 'daily_cap_usd', description: 'From midnight to midnight UTC. Clients that pay need one, or the word none.' },
  { name: 'monthly_cap_usd', description: 'In a calendar month, UTC.' },
  { name: 'max_item_usd', description: 'Largest amount of one payout.' },
  { name: 'max_call_usd', description: 'Largest total of one call.' },
  { name: 'approval_over_usd', description: 'Calls above this amount require an approval.' },
  {
    name: 'approval_over_recipient_day_usd',
    description: 'More for one recipient in a day (UTC) requires an approval.',
  },
  { name: 'approval_over_day_usd', description: 'More for all recipients in a day (UTC) requires an approval.' },
  { name: 'max_recipient_day_usd', description: 'One recipient gets no more in a day (UTC).' },
];

const PERSON_MONEY: Field<MoneyName>[] = [
  { name: 'person_daily_cap_usd', description: 'From midnight to midnight UTC.' },
  { name: 'person_monthly_cap_usd', description: 'In a calendar month, UTC.' },
  { name: 'person_max_item_usd', description: 'Largest amount of one payout.' },
];

function MoneyField({ name, description, draft, faults, change }: Props & Field<MoneyName>) {
  return (
    <TextInput
      label={`${LABELS[name]}, USD`}
      {...{ description, placeholder: 'No limit', inputMode: 'decimal', autoComplete: 'off', value: draft[name] }}
      error={faults[name]}
      onChange={({ currentTarget: { value } }) => change({ [name]: value.trim() })}
    />
  );
}

type CountName =
  | 'max_items'
  | 'requests_per_minute'
  | 'hold_duplicates_days'
  | 'beneficiary_cool_off_seconds'
  | 'person_requests_per_minute';

const COUNTS: Field<CountName>[] = [
  { name: 'max_items', description: 'Largest number of payouts in one call.' },
  { name: 'requests_per_minute', description: 'Across all keys of the client.' },
  {
    name: 'hold_duplicates_days',
    description: 'The same amount to the same recipient again requires an approval. At most 90 days.',
  },
  {
    name: 'beneficiary_cool_off_seconds',
    description: 'Payouts to a recipient that was registered more recently require an approval. At most 30 days.',
  },
];

const PERSON_COUNTS: Field<CountName>[] = [
  { name: 'person_requests_per_minute', description: 'Across all devices of the person.' },
];
const MOST = 1_000_000;

function CountField({ name, description, draft, faults, change }: Props & Field<CountName>) {
  return (
    <NumberInput
      {...{ label: LABELS[name], description, placeholder: 'No limit', hideControls: true, value: draft[name] }}
      {...{ allowDecimal: false, allowNegative: false, max: MOST, clampBehavior: 'strict' }}
      error={faults[name]}
      onChange={(value) => change({ [name]: typeof value === 'number' ? value : '' })}
    />
  );
}

type WordsName = 'countries' | 'addresses' | 'origins';

const WORDS: (Field<WordsName> & { placeholder: string })[] = [
  {
    name: 'countries',
    description: 'Countries that the client may pay to. Empty: any. Press Enter after each.',
    placeholder: 'Kenya',
  },
  {
    name: 'addresses',
    description: 'IP addresses and CIDR blocks that the client may call from. Empty: any.',
    placeholder: '10.0.0.0/8',
  },
  {
    name: 'origins',
    description: 'Web origins whose pages may call the proxy. Empty: none.',
    placeholder: 'https://shop.example',
  },
];

function WordsField({ name, description, placeholder, draft, faults, change }: Props & (typeof WORDS)[number]) {
  return (
    <TagsInput
      {...{ label: LABELS[name], description, value: draft[name], acceptValueOnBlur: true }}
      {...(draft[name].length === 0 && { placeholder })}
      error={faults[name]}
      onChange={(value) => change({ [name]: value })}
    />
  );
}

function OperationsField({ draft: { operations }, faults, change }: Props) {
  return (
    <Stack gap="xs">
      <Checkbox
        label="All operations"
        description="Includes future operations."
        checked={operations === null}
        onChange={({ currentTarget: { checked } }) => change({ operations: checked ? null : [] })}
      />
      {operations !== null && (
        <MultiSelect
          {...{ label: LABELS.operations, description: 'Operations that the client may use.', searchable: true }}
          data={[...OPERATIONS]}
          value={operations}
          error={operations.length === 0 ? 'Choose at least one, or all.' : faults.operations}
          onChange={(chosen) => change({ operations: OPERATIONS.filter((name) => chosen.includes(name)) })}
        />
      )}
    </Stack>
  );
}
