import type { Layout, LookChange } from '../conversations/schema-look.ts'

/** What a conversation looks like, as it is stored. */
export interface LookColumns {
  /** `null` in a conversation of a process that knows no layouts, until one is chosen, and in direct ones. */
  layout: Layout | null
  topic: string | null
  icon: string | null
}

/** The layout of a conversation: direct ones are streams, and those without a layout have topics. */
export function layoutOf({ is_direct, layout }: Pick<LookColumns, 'layout'> & { is_direct: number }): Layout {
  return is_direct === 1 ? 'stream' : (layout ?? 'topics')
}

/** What a conversation looks like, as its participants read it. */
export function toLook({ is_direct, layout, topic, icon }: LookColumns & { is_direct: number }) {
  return {
    layout: layoutOf({ is_direct, layout }),
    ...(layout === null && is_direct === 0 && { layout_unset: true as const }),
    ...(topic && { topic }),
    ...(icon && { icon }),
  }
}

/** The columns that a change of its look concerns. An empty text removes a topic, or an icon. */
export function toLookColumns({ layout, topic, icon }: LookChange): Partial<LookColumns> {
  return {
    ...(layout !== undefined && { layout }),
    ...(topic !== undefined && { topic: topic || null }),
    ...(icon !== undefined && { icon: icon || null }),
  }
}
