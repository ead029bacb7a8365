import * as assistant from '../assistant/routes.ts'
import * as audit from '../audit/routes.ts'
import * as auth from '../auth/routes.ts'
import * as compat from '../compat/routes.ts'
import * as conversations from '../conversations/routes.ts'
import * as emails from '../emails/routes.ts'
import * as events from '../events/routes.ts'
import * as identities from '../identities/routes.ts'
import * as invites from '../invites/routes.ts'
import * as keys from '../keys/routes.ts'
import * as limits from '../limits/routes.ts'
import * as messages from '../messages/routes.ts'
import * as oauth from '../oauth/routes.ts'
import * as ops from '../ops/routes.ts'
import * as presence from '../presence/routes.ts'
import * as resets from '../resets/routes.ts'
import * as setup from '../setup/routes.ts'
import * as tasks from '../tasks/routes.ts'
import * as threads from '../threads/routes.ts'
import * as users from '../users/routes.ts'
import * as wellKnown from '../well-known/routes.ts'

/** Every endpoint by its name, which is its OpenAPI operation id and the client's method. */
export const routes = {
  ...setup,
  ...auth,
  ...oauth,
  ...resets,
  ...emails,
  ...keys,
  ...identities,
  ...users,
  ...audit,
  ...tasks,
  ...conversations,
  ...invites,
  ...threads,
  ...messages,
  ...assistant,
  ...presence,
  ...limits,
  ...events,
  ...ops,
  ...wellKnown,
  ...compat,
}
