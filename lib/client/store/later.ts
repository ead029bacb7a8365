import type { Plan } from './resource.ts'

/** How a part of the store is read and kept current, without how it is shown. */
export type PlanBody<Data> = Pick<Plan<Data, unknown>, 'read' | 'fold' | 'isUnsure'>

/**
 * A plan whose body is loaded with the first reading: pages that do not show the part load none of it. What it begins with
 * in a snapshot is read again after an event until then.
 */
export function laterPlan<Data, View>({
  load,
  ...shown
}: Pick<Plan<Data, View>, 'initial' | 'isEphemeral' | 'isOwn' | 'view'> & {
  load: () => Promise<PlanBody<Data>>
}): Plan<Data, View> {
  let body: PlanBody<Data> | undefined
  return {
    ...shown,
    async read(...args) {
      body ??= await load()
      return body.read(...args)
    },
    fold: (data, event) => (body ? body.fold(data, event) : 'stale'),
    isUnsure: (...args) => !!body?.isUnsure?.(...args),
  }
}
