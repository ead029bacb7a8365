/** Something that was read, as the JSON of a response. */
export interface KeptEntry {
  path: string
  /** When it was read, in milliseconds. */
  at: number
  text: string
}

const NAME = 'chat'
const STORE = 'responses'

/** Runs one step in the database of the page. */
async function run<T>(mode: IDBTransactionMode, step: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await open()
  try {
    return await settled(step(database.transaction(STORE, mode).objectStore(STORE)))
  } finally {
    database.close()
  }
}

export const findEntry = (path: string): Promise<KeptEntry | undefined> => run('readonly', (store) => store.get(path))

export const allEntries = (): Promise<KeptEntry[]> => run('readonly', (store) => store.getAll())

export const putEntry = (entry: KeptEntry): Promise<unknown> => run('readwrite', (store) => store.put(entry))

export const deleteEntry = (path: string): Promise<unknown> => run('readwrite', (store) => store.delete(path))

async function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(NAME, 1)
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: 'path' })
  return settled(request)
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
