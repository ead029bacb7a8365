import { type Access, type Reach, RIGHTS_TOWARDS, reachFor, SERVICE_RIGHTS, type ServiceRight } from './access.ts'
import type { Actor } from './actor.ts'

/** The rights of an actor in the service: those about other persons with how far they go, of the rest `true`. */
export type ServiceCan = {
  [Right in ServiceRight]?: Right extends (typeof RIGHTS_TOWARDS)[number] ? Reach : true
}

/** What an actor may do in the service. Each `GET /api/auth/me` has it: no list is made on the way. */
export function rightsOf(access: Access, actor: Actor): ServiceCan {
  const can: { [Right in ServiceRight]?: Reach | true } = {}
  for (const right of SERVICE_RIGHTS) {
    const reach = reachFor(access, actor, right)
    if (reach) can[right] = RIGHTS_TOWARDS.some((each) => each === right) ? reach : true
  }
  return can as ServiceCan
}
