import { Group, Text } from '@mantine/core';
import { Check, TriangleAlert } from 'lucide-react';
import { formatUsd } from '../../../components/values/format';
import { Maybe } from '../../../components/values/values';
import { isNought } from '../words';

/** Shows the unexplained rest, which must be zero. */
export function Residual({ usd }: { usd: string | undefined }) {
  if (usd === undefined) return <Maybe text={null} />;
  const isRight = isNought(usd);
  return (
    <Group gap={4} wrap="nowrap" justify="flex-end" c={isRight ? 'inherit' : 'red'}>
      {isRight ? (
        <Check size={14} aria-label="as it must be" />
      ) : (
        <TriangleAlert size={14} aria-label="must be 0" />
      )}
      <Text span inherit fw={isRight ? 400 : 700} style={{ whiteSpace: 'nowrap' }}>
        {isRight ? '0' : formatUsd(usd)}
      </Text>
    </Group>
  );
}
