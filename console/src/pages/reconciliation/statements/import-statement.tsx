import { Alert, Button, Checkbox, FileInput, Group, Modal, NativeSelect, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { raw } from '../../../api/client';
import {
  type ImportedStatement,
  pathsV1ReconciliationStatementsPostParametersQueryDelimiterValues as DELIMITERS,
} from '../../../api/generated/schema';
import { useSubmit } from '../../../components/forms/form';
import { useGate } from '../../../components/forms/gate';
import { formatCount } from '../../../components/values/format';
import { AccountInput } from '../account-input';
import { ProblemAlert } from '../problem-alert';
import { ColumnsInput, type Columns, columnsIn, guess } from './column-mapping';
import { StatementFaults } from './statement-faults';

/** Imports a provider's file, and shows the lines that cannot be used. */
export function ImportStatement({ close }: { close: () => void }) {
  const [imported, setImported] = useState<ImportedStatement>();
  return (
    <Modal
      opened
      onClose={close}
      size="lg"
      title="Import a statement"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {imported ? (
        <Imported statement={imported} close={close} />
      ) : (
        <ImportForm close={close} done={setImported} />
      )}
    </Modal>
  );
}

/** File and its format. */
interface Reading {
  file: File | null;
  /** Upstream account of its transactions. */
  account: string;
  delimiter: string;
  decimalComma: boolean;
  /** Names of the file's columns. */
  names: string[];
  columns: Columns;
}

const EMPTY_FORM: Reading = {
  file: null,
  account: 'main',
  delimiter: 'comma',
  decimalComma: false,
  names: [],
  columns: {},
};

function ImportForm({ close, done }: { close: () => void; done: (statement: ImportedStatement) => void }) {
  const queries = useQueryClient();
  const [reading, setReading] = useState(EMPTY_FORM);
  const gate = useGate(reading.file ? undefined : 'Choose a file first.');
  const { failure, busy, onSubmit } = useSubmit(async () => {
    done(await upload(reading));
    await queries.invalidateQueries({ queryKey: ['get', '/v1/reconciliation/statements'] });
  });
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <FileInputs reading={reading} setReading={setReading} />
        <AccountInput account={reading.account} choose={(account) => setReading({ ...reading, account })} />
        {reading.names.length > 0 && (
          <ColumnsInput
            names={reading.names}
            columns={reading.columns}
            setColumns={(columns) => setReading({ ...reading, columns })}
          />
        )}
        {failure !== undefined && <ProblemAlert error={failure} />}
        <Group justify="flex-end">
          {gate.hint}
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" loading={busy} {...gate.button}>
            Import
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

async function upload({
  file,
  account,
  columns,
  delimiter,
  decimalComma,
}: Reading): Promise<ImportedStatement> {
  const query = new URLSearchParams({
    account,
    mapping: JSON.stringify(columns),
    delimiter,
    file: file?.name ?? '',
  });
  if (decimalComma) query.set('decimal_comma', 'true');
  const answer = await raw(`/v1/reconciliation/statements?${query.toString()}`, {
    method: 'POST',
    body: file,
    headers: { 'Content-Type': 'text/csv' },
  });
  return (await answer.json()) as ImportedStatement;
}

function FileInputs({ reading, setReading }: { reading: Reading; setReading: (reading: Reading) => void }) {
  const look = async (next: Reading) => {
    const names = next.file ? await columnsIn(next.file, next.delimiter) : [];
    setReading({ ...next, names, columns: guess(names) });
  };
  return (
    <>
      <FileInput
        label="File"
        description="CSV in UTF-8. The first line contains the column names."
        placeholder="Choose a file"
        accept=".csv,text/csv"
        required
        value={reading.file}
        onChange={(file) => void look({ ...reading, file })}
      />
      <Group align="flex-end">
        <NativeSelect
          label="Delimiter"
          value={reading.delimiter}
          onChange={({ currentTarget: { value: delimiter } }) => void look({ ...reading, delimiter })}
          data={[...DELIMITERS]}
        />
        <Checkbox
          label="Numbers use a decimal comma (1.234,50)"
          mb={8}
          checked={reading.decimalComma}
          onChange={({ currentTarget: { checked: decimalComma } }) =>
            setReading({ ...reading, decimalComma })
          }
        />
      </Group>
    </>
  );
}

function Imported({ statement, close }: { statement: ImportedStatement; close: () => void }) {
  const { already_imported: before, kept, rows, fault_count: faults, ignored_fields: ignored } = statement;
  return (
    <Stack>
      <Alert color={faults > 0 ? 'orange' : 'teal'} variant="light" role="status">
        {before
          ? 'The same file was already imported with the same mapping. Nothing was changed. '
          : 'Imported. '}
        {formatCount(kept)} of {formatCount(rows)} rows can be used. Start a run to compare with this
        statement.
      </Alert>
      {ignored.length > 0 && (
        <Alert color="orange" variant="light">
          Skipped, because your key does not have access to people: {ignored.join(', ')}. Recipients are not
          compared.
        </Alert>
      )}
      {faults > 0 && <StatementFaults statement={statement} />}
      <Group justify="flex-end">
        <Button onClick={close}>Done</Button>
      </Group>
    </Stack>
  );
}
