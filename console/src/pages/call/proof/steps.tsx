import { Group, List, Text, ThemeIcon, VisuallyHidden } from '@mantine/core';
import { Check, Minus, X } from 'lucide-react';
import type { Step } from '../../../verify/verify';
import classes from '../call.module.css';

const LOOKS = {
  right: { color: 'teal', word: 'right', Icon: Check },
  wrong: { color: 'red', word: 'wrong', Icon: X },
  open: { color: 'gray', word: 'not compared', Icon: Minus },
} as const;

/** Lists the steps of the verification, each with its result and, under Details, the evidence. */
export function Steps({ steps }: { steps: Step[] }) {
  return (
    <List type="ordered" listStyleType="none" spacing="sm" aria-label="Steps of the verification">
      {steps.map((step) => (
        <List.Item key={step.title} styles={{ itemWrapper: { width: '100%' }, itemLabel: { width: '100%' } }}>
          <StepView step={step} />
        </List.Item>
      ))}
    </List>
  );
}

function StepView({ step: { title, state, says, details } }: { step: Step }) {
  const { color, word, Icon } = LOOKS[state];
  return (
    <Group gap="sm" wrap="nowrap" align="flex-start">
      <ThemeIcon color={color} size="sm" radius="xl" variant="light" mt={2}>
        <Icon size={14} aria-hidden />
      </ThemeIcon>
      <div style={{ minWidth: 0, flex: 1 }}>
        <Text size="sm" fw={600}>
          {title} <VisuallyHidden>({word})</VisuallyHidden>
        </Text>
        <Text size="sm" className="wrap-anywhere">
          {says}
        </Text>
        {details.length > 0 && (
          <details>
            <summary className={classes.summary}>Details</summary>
            <dl className={classes.evidence}>
              {details.map(([what, value], at) => (
                <div key={at}>
                  <dt>{what}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          </details>
        )}
      </div>
    </Group>
  );
}
