import { Alert, Button, Checkbox, Group, Modal, Progress, Radio, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { messageOf } from '../../../api/problem';
import { useSession } from '../../../api/session';
import { formatCount } from '../../../components/values/format';
import { keep, type SaveProgress } from '../../../api/save';
import { type Asked, type Exporting, useExport } from './use-export';
import { FILTER_NAMES, FILTERS } from '../filters/filters';
import type { List } from '../list';

export function ExportButton({ list }: { list: List }) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button variant="default" size="xs" leftSection={<Download size={14} aria-hidden />} onClick={open}>
        Export
      </Button>
      {isOpen && <ExportDialog list={list} close={close} />}
    </>
  );
}

function ExportDialog({ list, close }: { list: List; close: () => void }) {
  const [asked, setAsked] = useState<Asked>({ what: list.what, format: 'csv', reveal: false });
  const { exporting, begin, cancel } = useExport(list.filters);
  const isComing = exporting.state === 'comes';
  return (
    <Modal
      opened
      onClose={close}
      title="Export"
      closeOnClickOutside={!isComing}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm">{wordsOf(list)}</Text>
        <Choices asked={asked} setAsked={setAsked} disabled={isComing} />
        <State exporting={exporting} />
        <Group justify="flex-end">
          <Button variant="default" onClick={isComing ? cancel : close}>
            {isComing ? 'Cancel' : 'Close'}
          </Button>
          <Button loading={isComing} onClick={() => void begin(asked)}>
            Export
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function wordsOf({ filters }: List): string {
  const said = FILTER_NAMES.flatMap((name) =>
    filters[name] === undefined ? [] : FILTERS[name].words(filters[name]),
  );
  const found = said.length === 0 ? 'The whole history' : `All results of the filters (${said.join(', ')})`;
  return `${found}, not only this page, with all columns, oldest first. The export is recorded.`;
}

interface ChoicesProps {
  asked: Asked;
  setAsked: (asked: Asked) => void;
  disabled: boolean;
}

function Choices({ asked, setAsked, disabled }: ChoicesProps) {
  const { may } = useSession();
  return (
    <>
      <Radio.Group label="Rows" value={asked.what} onChange={(what) => setAsked({ ...asked, what: what })}>
        <Group mt={4}>
          <Radio value="calls" label="Calls" disabled={disabled} />
          <Radio value="items" label="Payouts" disabled={disabled} />
        </Group>
      </Radio.Group>
      <Radio.Group
        label="Format"
        value={asked.format}
        onChange={(format) => setAsked({ ...asked, format: format })}
      >
        <Group mt={4}>
          <Radio value="csv" label="CSV" disabled={disabled} />
          <Radio value="ndjson" label="NDJSON" disabled={disabled} />
        </Group>
      </Radio.Group>
      {may('audit:pii') ? (
        <Checkbox
          label="Show people unmasked (recorded)"
          checked={asked.reveal}
          disabled={disabled}
          description="Otherwise, emails, phone numbers, and handles are masked."
          onChange={({ currentTarget }) => setAsked({ ...asked, reveal: currentTarget.checked })}
        />
      ) : (
        <Text size="sm" c="dimmed">
          People are masked because your key does not have access to them.
        </Text>
      )}
    </>
  );
}

/** Shows the progress and the result. */
function State({ exporting }: { exporting: Exporting }) {
  switch (exporting.state) {
    case 'none':
      return null;
    case 'comes':
      return <Coming progress={exporting.progress} />;
    case 'failed':
      return (
        <Alert color="red" role="alert">
          {messageOf(exporting.error)}
        </Alert>
      );
    case 'kept':
      return <Kept {...exporting} />;
  }
}

function Kept({ checked, filename }: Extract<Exporting, { state: 'kept' }>) {
  return (
    <Alert color="teal" role="status" title={`Complete, ${formatCount(checked.rows)} rows`}>
      {checked.summed
        ? 'The checksum matches: the file is what the proxy wrote.'
        : 'The checksum was not compared, because browsers support this only over https.'}{' '}
      The file is in your downloads as {filename}. Keep the manifest with the file. It proves that the file is
      complete and unchanged.
      <Group mt="xs">
        <Button
          variant="default"
          size="xs"
          onClick={() => keep(checked.manifest, `${filename}.manifest.json`)}
        >
          Save the manifest
        </Button>
      </Group>
    </Alert>
  );
}

function Coming({ progress }: { progress: SaveProgress | undefined }) {
  const { bytes = 0, rows = 0, total } = progress ?? {};
  const size = `${formatCount(Math.ceil(bytes / 1_024))} kB`;
  const done = total === undefined ? undefined : Math.min(100, total === 0 ? 100 : (rows / total) * 100);
  return (
    <Stack gap={4}>
      <Progress
        value={done ?? 100}
        animated={done === undefined}
        aria-label={done === undefined ? 'Rows, total unknown' : 'Rows'}
        transitionDuration={200}
      />
      <Text size="sm" role="status">
        {total === undefined
          ? `${formatCount(rows)} rows, ${size} so far`
          : `${formatCount(Math.min(rows, total))} of ${formatCount(total)} rows, ${size}`}
      </Text>
    </Stack>
  );
}
