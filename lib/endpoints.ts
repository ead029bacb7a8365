import * as keys from './accounts/api-keys/routes.ts'
import * as audit from './accounts/audit/routes.ts'
import * as emails from './accounts/email-addresses/routes.ts'
import * as identities from './accounts/identities/routes.ts'
import * as oauth from './accounts/oauth/routes.ts'
import * as resets from './accounts/password-resets/routes.ts'
import * as auth from './accounts/sessions/routes.ts'
import * as setup from './accounts/setup/routes.ts'
import * as users from './accounts/users/routes.ts'
import * as assistant from './chat/answers/routes.ts'
import * as conversations from './chat/conversations/routes.ts'
import * as events from './chat/events/routes.ts'
import * as invites from './chat/invites/routes.ts'
import * as messages from './chat/messages/routes.ts'
import * as presence from './chat/presence/routes.ts'
import * as threads from './chat/threads/routes.ts'
import * as limits from './limits/routes.ts'
import * as compat from './openai-api/routes.ts'
import * as ops from './ops/routes.ts'
import * as tasks from './tasks/routes.ts'
import * as wellKnown from './well-known/routes.ts'

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
