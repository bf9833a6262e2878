import {
  Button,
  Checkbox,
  Collapse,
  Divider,
  Group,
  NumberInput,
  SimpleGrid,
  Stack,
  Text,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import type { FaultKindDto, NewFaultDto } from '../../../api/generated/schema';
import { InlineCode } from '../inline-code';

interface Props {
  kind: FaultKindDto;
  add: (fault: NewFaultDto) => void;
  isBusy: boolean;
}

/** Numeric settings. Undefined omits one. */
type Numbers = Record<string, number | undefined>;

/** Shows a fault that can be turned on, with optional settings. */
export function FaultKind({ kind, add, isBusy }: Props) {
  const [opened, { toggle }] = useDisclosure();
  const [when, setWhen] = useState<Numbers>({});
  const [settings, setSettings] = useState<Numbers>({});
  const [processed, setProcessed] = useState(kind.processed);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add({
      fault: kind.fault,
      ...when,
      ...(processed !== kind.processed && { processed }),
      settings,
    });
  };
  return (
    <form onSubmit={submit} noValidate aria-label={kind.fault}>
      <Divider />
      <Group justify="space-between" wrap="nowrap" align="flex-start" gap="xs" py="xs">
        <FaultDescription kind={kind} />
        <Stack gap={4} style={{ flexShrink: 0 }}>
          <Button
            type="submit"
            size="compact-xs"
            variant="default"
            disabled={isBusy}
            aria-label={`Turn on ${kind.fault}`}
          >
            Turn on
          </Button>
          <Button
            size="compact-xs"
            variant="subtle"
            onClick={toggle}
            aria-expanded={opened}
            aria-label={`${opened ? 'Less' : 'More'} about ${kind.fault}`}
          >
            {opened ? 'Less' : 'More'}
          </Button>
        </Stack>
      </Group>
      <Collapse expanded={opened}>
        <Stack gap="xs" pb="sm">
          <SimpleGrid cols={2} spacing="xs" verticalSpacing="xs">
            <Figures fields={WHEN} values={when} change={setWhen} />
            <Figures fields={kind.settings.map(toField)} values={settings} change={setSettings} />
          </SimpleGrid>
          {kind.chooses_processed && (
            <Checkbox
              size="xs"
              label="Carry out the operation anyway"
              checked={processed}
              onChange={({ currentTarget: { checked } }) => setProcessed(checked)}
            />
          )}
        </Stack>
      </Collapse>
    </form>
  );
}

function FaultDescription({ kind: { fault, does, processed } }: Pick<Props, 'kind'>) {
  return (
    <div style={{ minWidth: 0 }}>
      <Text size="sm" fw={600} className="wrap-anywhere">
        {fault}
      </Text>
      <Text size="xs" c="dimmed">
        <InlineCode text={does} />.{' '}
        {processed ? 'The operation is carried out.' : 'The operation is not carried out.'}
      </Text>
    </div>
  );
}

interface FigureField {
  name: string;
  label: string;
  description: string;
  placeholder: string;
}

/** Settings that select the affected requests. */
const WHEN: FigureField[] = [
  { name: 'nth', label: 'nth', description: 'Only the nth request from now', placeholder: 'every one' },
  { name: 'probability', label: 'Probability', description: 'Chance per request, 0 to 1', placeholder: '1' },
];

const toField = ({ name, default: byDefault, must }: FaultKindDto['settings'][number]): FigureField => ({
  name,
  label: name,
  description: must,
  placeholder: String(byDefault),
});

interface FiguresProps {
  fields: FigureField[];
  values: Numbers;
  change: (values: Numbers) => void;
}

function Figures({ fields, values, change }: FiguresProps) {
  return fields.map(({ name, ...texts }) => (
    <NumberInput
      key={name}
      {...texts}
      size="xs"
      hideControls
      value={values[name] ?? ''}
      onChange={(value) => change({ ...values, [name]: typeof value === 'number' ? value : undefined })}
    />
  ));
}
