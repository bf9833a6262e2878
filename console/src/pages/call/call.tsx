import { Page } from '../../components/page';
import { Empty } from '../../components/states';

export default function CallPage() {
  return (
    <Page title="Call">
      <Empty>Nothing here yet.</Empty>
    </Page>
  );
}
