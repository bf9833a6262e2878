import '@mantine/dates/styles.css';
import { Button, Group } from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import { useState } from 'react';
import {
  findingCategoryValues as CATEGORIES,
  severityValues as SEVERITIES,
  findingStateValues as STATES,
} from '../../../api/generated/schema';
import { Choice, Entry } from '../../../components/lists/filter-inputs';
import { inWords } from '../../../components/values/format';
import { AccountFilter } from '../account-input';
import { daysIn, periodOf } from '../days';
import { AGES, type Filters } from './findings-query';

interface Props {
  values: Filters;
  change: (changes: Record<string, string | undefined>) => void;
}

/** Filters of the list, all in the URL. */
export function FindingsFilters({ values, change }: Props) {
  const isFiltered = Object.keys(values).some((name) => name !== 'page_size');
  const none = Object.fromEntries(Object.keys(values).map((name) => [name, undefined]));
  return (
    <Group gap="xs" align="flex-end" role="search" aria-label="Filters">
      <AccountFilter value={values.account} choose={(account) => change({ account })} />
      <Choice
        label="State"
        value={values.state}
        choose={(state) => change({ state })}
        all="Open and reopened"
        others={[...STATES.map(asOption), { value: 'any', label: 'Any' }]}
      />
      <Choice
        label="Category"
        value={values.category}
        choose={(category) => change({ category })}
        all="All categories"
        others={CATEGORIES.map(asOption)}
      />
      <Choice
        label="Severity"
        value={values.severity}
        choose={(severity) => change({ severity })}
        all="Any"
        others={SEVERITIES.map(asOption)}
      />
      <AgeChoice values={values} change={change} />
      <PaidDays key={`${values.from} ${values.to}`} values={values} change={change} />
      <Entry
        key={`run ${values.run_id}`}
        label="Run"
        placeholder="ID"
        value={values.run_id}
        enter={(run_id) => change({ run_id })}
      />
      <Entry
        key={`call ${values.call_id}`}
        label="Call"
        placeholder="ID"
        value={values.call_id}
        enter={(call_id) => change({ call_id })}
      />
      {isFiltered && (
        <Button variant="subtle" size="sm" onClick={() => change(none)}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

const asOption = (value: string) => ({ value, label: inWords(value) });

const ages = (least = '', most = '') => `${least}-${most}`;
const OTHER_AGE = 'other';

function AgeChoice({ values, change }: Props) {
  const { min_age_days: least, max_age_days: most } = values;
  const known = AGES.find(
    ({ filter }) => ages(filter.min_age_days, filter.max_age_days) === ages(least, most),
  );
  const isOther = !known && (least !== undefined || most !== undefined);
  const choose = (age: string) => {
    const { min_age_days, max_age_days } = AGES.find(({ name }) => name === age)?.filter ?? {};
    change({ min_age_days, max_age_days });
  };
  return (
    <Choice
      label="Age"
      value={known?.name ?? (isOther ? OTHER_AGE : '')}
      choose={choose}
      all="Any"
      others={[
        ...AGES.map(({ name, label }) => ({ value: name, label: `${label} days` })),
        ...(isOther ? [{ value: OTHER_AGE, label: `${least ?? 0}–${most ?? ''} days` }] : []),
      ]}
    />
  );
}

/** Filters by the days of the payments. */
function PaidDays({ values, change }: Props) {
  const [days, setDays] = useState(daysIn(values.from, values.to));
  return (
    <DatePickerInput
      type="range"
      label="Paid on (UTC)"
      placeholder="Any day"
      clearable
      allowSingleDateInRange
      miw={150}
      value={days}
      valueFormat="YYYY-MM-DD"
      weekendDays={[]}
      hideOutsideDates
      clearButtonProps={{ 'aria-label': 'Any day' }}
      ariaLabels={{ previousMonth: 'Previous month', nextMonth: 'Next month' }}
      onChange={(chosen) => {
        setDays(chosen);
        const { from, to } = periodOf(chosen) ?? {};
        if (from !== undefined || chosen[0] === null) change({ from, to });
      }}
    />
  );
}
