import { notifications } from '@mantine/notifications';
import type { WaitingDto } from '../../api/generated/schema';

/** Shows a notification if a change needs approval by a second person. Returns whether it does. */
export function notifyPendingChange(answer: object): answer is WaitingDto {
  if (!('change_id' in answer)) return false;
  const { change_id: id } = answer as WaitingDto;
  notifications.show({
    message: `Another person must approve this change. It is listed on the page Changes: ${id}`,
    color: 'orange',
    autoClose: false,
  });
  return true;
}
