import { Page } from '../../components/page';
import { Empty } from '../../components/states';

export default function ClientPage() {
  return (
    <Page title="Client">
      <Empty>Nothing here yet.</Empty>
    </Page>
  );
}
