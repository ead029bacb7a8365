import { createChatStore } from 'chat-server/client/store'
import { createTestChat } from 'chat-server/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createRenderer, h } from 'vue'
import { renderToString } from 'vue/server-renderer'
import { Conversations } from './conversations.ts'
import { Room } from './room.ts'

interface Node {
  text: string
  onClick?: () => unknown
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

it('shows a room from its end, the earlier messages, and a post at once', async () => {
  const { client, close } = await createTestChat({ users: ['ada'] })
  const ada = client('ada')
  const store = createChatStore(ada)
  onTestFinished(async () => {
    store.close()
    await close()
  })
  const { conversation_id } = await ada.conversations.create()
  for (let n = 1; n <= 60; n++) await ada.messages.postRoot(conversation_id, { content: `${n};` })
  const page = createNode('')
  const app = renderer.createApp(Room, { store, id: conversation_id })
  app.mount(page)
  await vi.waitFor(() => expect(textOf(page)).toMatch(/^Earlier messages11;12;.*59;60;Send$/), 10_000)
  await buttonOf(page, 'Earlier messages')!.onClick!()
  await vi.waitFor(() => expect(textOf(page)).toMatch(/^1;2;.*60;Send$/), 10_000)
  const posted = buttonOf(page, 'Send')!.onClick!()
  await vi.waitFor(() => expect(textOf(page)).toMatch(/60;It runs\.Send$/), 10_000)
  await posted
  expect(textOf(page).match(/It runs/g)).toHaveLength(1)
  app.unmount()
})

function buttonOf(node: Node, text: string): Node | undefined {
  if (node.onClick && textOf(node) === text) return node
  return node.children.map((child) => buttonOf(child, text)).find(Boolean)
}

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
  patchProp: (node, name, _, value) => void Object.assign(node, { [name]: value }),
})

function remove(node: Node): void {
  const { parent } = node
  if (parent) parent.children = parent.children.filter((each) => each !== node)
}
