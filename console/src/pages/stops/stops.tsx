import { Page } from '../../components/page';
import { Empty } from '../../components/states';

export default function StopsPage() {
  return (
    <Page title="Stops">
      <Empty>Nothing here yet.</Empty>
    </Page>
  );
}
