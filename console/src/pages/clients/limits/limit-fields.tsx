import { Checkbox, MultiSelect, NumberInput, SimpleGrid, Stack, TagsInput, TextInput } from '@mantine/core';
import type { LimitRow } from '../../../../../src/access/clients/limits/limit-row';
import { operationNameValues as OPERATIONS, scopeValues as SCOPES } from '../../../api/generated/schema';
import { formatCount } from '../../../components/values/format';
import { SCOPE_WORDS } from '../../../words/clients';
import { type Draft, type Faults, LABELS, LIMITS } from './draft';
import { FormHeading, PageProviderFields, TokenProviderFields } from './provider-fields';

interface Props {
  draft: Draft;
  faults: Faults;
  change: (change: Partial<Draft>) => void;
}

/** Shows the permissions and limits of a client. */
export function LimitFields(props: Props) {
  return (
    <Stack>
      <ScopesField {...props} />
      <OperationsField {...props} />
      <Limits {...props} of={LIMITS.filter(({ replacedBy }) => replacedBy === undefined)} />
      <FormHeading title="Limits of each person">
        These limits apply to each person without limits of their own. If one is set, every payment must name
        its person.
      </FormHeading>
      <Limits {...props} of={LIMITS.filter(({ replacedBy }) => replacedBy !== undefined)} />
      <TokenProviderFields {...props} />
      <PageProviderFields {...props} />
    </Stack>
  );
}

/** Shows a field for each limit. Amounts and counts are aligned at the bottom. */
function Limits({ of, ...props }: Props & { of: LimitRow[] }) {
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} style={{ alignItems: 'end' }}>
        {of.map((row) => row.kind === 'usd' && <MoneyField key={row.name} {...props} row={row} />)}
        {of.map((row) => row.kind === 'count' && <CountField key={row.name} {...props} row={row} />)}
      </SimpleGrid>
      {of.map((row) => row.kind === 'list' && <WordsField key={row.name} {...props} row={row} />)}
      {of.map((row) => row.kind === 'flag' && <FlagField key={row.name} {...props} row={row} />)}
    </>
  );
}

interface FieldProps<Kind extends LimitRow['kind']> extends Props {
  row: Extract<LimitRow, { kind: Kind }>;
}

/** Hints that are added to the text of a limit. */
const HINTS: Record<string, string> = {
  daily_cap_usd: 'Required for clients that pay. The word none means no cap.',
};

function MoneyField({ row: { name, label, text }, draft, faults, change }: FieldProps<'usd'>) {
  return (
    <TextInput
      label={`${label}, USD`}
      description={[text, HINTS[name]].filter(Boolean).join(' ')}
      placeholder="No limit"
      inputMode="decimal"
      autoComplete="off"
      value={draft[name as keyof Draft] as string}
      error={faults[name]}
      onChange={({ currentTarget: { value } }) => change({ [name]: value.trim() })}
    />
  );
}

function CountField({ row: { name, label, text, most }, draft, faults, change }: FieldProps<'count'>) {
  return (
    <NumberInput
      label={label}
      description={`${text} At most ${formatCount(most)}.`}
      placeholder="No limit"
      hideControls
      allowDecimal={false}
      allowNegative={false}
      max={most}
      clampBehavior="strict"
      value={draft[name as keyof Draft] as number | ''}
      error={faults[name]}
      onChange={(value) => change({ [name]: typeof value === 'number' ? value : '' })}
    />
  );
}

function WordsField({ row, draft, faults, change }: FieldProps<'list'>) {
  const { name, label, text, empty, example } = row;
  const value = draft[name as keyof Draft] as string[];
  return (
    <TagsInput
      label={label}
      description={`${text} Empty: ${empty}. Press Enter after each.`}
      value={value}
      acceptValueOnBlur
      placeholder={value.length === 0 ? (example[0] ?? '') : undefined}
      error={faults[name]}
      onChange={(words) => change({ [name]: words })}
    />
  );
}

function FlagField({ row: { name, label, text }, draft, faults, change }: FieldProps<'flag'>) {
  return (
    <Checkbox
      label={label}
      description={text}
      checked={draft[name as keyof Draft] as boolean}
      error={faults[name]}
      onChange={({ currentTarget: { checked } }) => change({ [name]: checked })}
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
          label={LABELS.operations}
          description="Operations that the client may use."
          searchable
          data={[...OPERATIONS]}
          value={operations}
          error={operations.length === 0 ? 'Choose at least one, or all.' : faults.operations}
          onChange={(chosen) => change({ operations: OPERATIONS.filter((name) => chosen.includes(name)) })}
        />
      )}
    </Stack>
  );
}

function ScopesField({ draft: { scopes }, faults, change }: Props) {
  return (
    <Checkbox.Group
      label="Scopes"
      description="Permissions of the client's keys."
      required
      value={scopes}
      error={faults.scopes}
      onChange={(chosen) => change({ scopes: SCOPES.filter((scope) => chosen.includes(scope)) })}
    >
      <Stack gap={6} mt={6}>
        {SCOPES.map((scope) => (
          <Checkbox key={scope} size="sm" value={scope} label={scope} description={SCOPE_WORDS[scope]} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
