import { Module } from '@nestjs/common';
import { ClientsModule } from '../../access/clients/clients.module';
import { EphemeralKeysService } from '../../access/ephemeral/ephemeral-keys.service';
import { GovernanceModule } from '../../access/governance/governance.module';
import { PersonRevocationsService } from '../../access/people/person-revocations.service';
import { UpstreamModule } from '../../gateway/upstream/upstream.module';
import { PolicyModule } from '../../policy/policy.module';
import { BeneficiariesController } from './beneficiaries.controller';
import { ChangesController } from './changes.controller';
import { ClientEphemeralKeysController } from './client-ephemeral-keys.controller';
import { ClientsController } from './clients.controller';
import { KeyClaimsController } from './key-claims.controller';
import { KeysController } from './keys.controller';
import { SignInsController } from './sign-ins.controller';
import { PersonRevocationsController } from './person-revocations.controller';
import { PersonMergesController } from './person-merges.controller';
import { PersonLimitsController } from './person-limits.controller';
import { OperationsController } from './operations.controller';

@Module({
  imports: [ClientsModule, GovernanceModule, PolicyModule, UpstreamModule],
  providers: [EphemeralKeysService, PersonRevocationsService],
  controllers: [
    ChangesController,
    ClientEphemeralKeysController,
    ClientsController,
    KeyClaimsController,
    KeysController,
    PersonLimitsController,
    PersonMergesController,
    SignInsController,
    BeneficiariesController,
    OperationsController,
    PersonRevocationsController,
  ],
})
export class ClientsApiModule {}
