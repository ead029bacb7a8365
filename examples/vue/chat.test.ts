import { createChatStore } from 'chat-server/client/store'
import { createTestChat } from 'chat-server/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createRenderer, h } from 'vue'
import { renderToString } from 'vue/server-renderer'
import { Conversations } from './conversations.ts'

interface Node {
  text: string
  parent?: Node
  children: Node[]
}

it('shows the conversations of the store as they change, and on a server what there is before', async () => {
  const { client, close } = await createTestChat({ users: ['ada', 'grace'] })
  const ada = client('ada')
  const store = createChatStore(ada)
  onTestFinished(async () => {
    store.close()
    await close()
  })
  expect(await renderToString(h(Conversations, { store }))).toBe('<p>Loading…</p>')
  expect(store.connection.getSnapshot().status).toBe('idle')

  const page = createNode('')
  const app = renderer.createApp(Conversations, { store })
  app.mount(page)
  await ada.conversations.create({ title: 'Engines' })
  await vi.waitFor(() => expect(textOf(page)).toBe('Inbox (0)Engines'), 10_000)
  const grace = client('grace')
  const { conversation_id } = await grace.conversations.create({ title: 'Ships' })
  await grace.participants.add(conversation_id, { username: 'ada' })
  await vi.waitFor(() => expect(textOf(page)).toBe('Inbox (1)ShipsEngines'), 10_000)
  app.unmount()
})

function createNode(text: string): Node {
  return { text, children: [] }
}

function textOf({ text, children }: Node): string {
  return text + children.map(textOf).join('')
}

/** A page without a browser. */
const renderer = createRenderer<Node, Node>({
  createElement: () => createNode(''),
  createText: createNode,
  createComment: () => createNode(''),
  setText(node, text) {
    node.text = text
  },
  setElementText: (node, text) => void Object.assign(node, { text, children: [] }),
  insert(node, parent, anchor) {
    remove(node)
    node.parent = parent
    parent.children.splice(anchor ? parent.children.indexOf(anchor) : parent.children.length, 0, node)
  },
  remove,
  parentNode: ({ parent }) => parent ?? null,
  nextSibling: (node) => node.parent?.children[node.parent.children.indexOf(node) + 1] ?? null,
  patchProp() {},
})

function remove(node: Node): void {
  const { parent } = node
  if (parent) parent.children = parent.children.filter((each) => each !== node)
}
