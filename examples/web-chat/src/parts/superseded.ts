import { options, type VNode } from 'preact'

/** What Preact has of a component in a tree, by the names in its bundle. */
interface Rendered extends VNode {
  /** Its children, as rendered. */
  __k: unknown
  /** Its instance. */
  __c: object | null
}

/** The hooks of Preact that its types leave out: `__c` follows the commit of a tree. */
interface Hooks {
  diffed?: (vnode: Rendered) => void
  __c?: (root: Rendered, callbacks: unknown[]) => void
}

/**
 * Has Preact forget what it rendered before. A component that renders again by itself gets a new vnode, but the props of the
 * element around it keep the first one, with its tree. Of that, what was not rendered again refers to the tree after it, and
 * so on: a page that stays open would keep all it has ever shown (preactjs/preact#4909).
 */
export function forgetSuperseded(): void {
  const hooks = options as Hooks
  const { diffed, __c: committed } = hooks
  const latest = new WeakMap<object, Rendered>()
  const superseded: Rendered[] = []
  hooks.diffed = (vnode) => {
    diffed?.(vnode)
    const instance = vnode.__c
    if (!instance) return
    const before = latest.get(instance)
    if (before && before !== vnode) superseded.push(before)
    latest.set(instance, vnode)
  }
  hooks.__c = (root, callbacks) => {
    committed?.(root, callbacks)
    for (const vnode of superseded.splice(0)) vnode.__k = null
  }
}
