import {
  type Compilable,
  type CompiledQuery,
  DummyDriver,
  type Expression,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
} from 'kysely'
import type { Db } from '../database.ts'
import type { Tables } from '../tables/tables.ts'

/** The placeholders in a statement for the values of each call. */
export type Values<V extends object> = { readonly [K in keyof V]-?: Expression<V[K]> }

type Statement<V extends object, Row> = {
  /** Runs the statement with these values; inside a transaction, too. */
  (db: Db, values: V): Promise<QueryResult<Row>>
  /** Returns the statement with these values without running it. */
  query(values: V): CompiledQuery<Row>
}

class Placeholder {
  readonly name: PropertyKey
  constructor(name: PropertyKey) {
    this.name = name
  }
}

const compiling = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

const placeholders = new Proxy({}, { get: (_target, name) => sql`${new Placeholder(name)}` })

/**
 * A statement whose text is compiled at its first use and then kept, since building and compiling a query costs the
 * service more than sending it. Only values may differ between calls, never the structure of the query.
 *
 *     const agentOf = statement((p: Values<{ accountId: string; id: string }>, db) =>
 *       db.selectFrom('agents').select('name').where('account_id', '=', p.accountId).where('id', '=', p.id))
 *     const { rows } = await agentOf(trx, { accountId, id })
 */
export function statement<V extends object, Row>(
  build: (values: Values<V>, db: Db) => { compile: (db: Db) => CompiledQuery<Row> } | Compilable<Row>,
): Statement<V, Row> {
  let compiled: CompiledQuery<Row> | undefined
  const query = (values: V): CompiledQuery<Row> => {
    compiled ??= build(placeholders as Values<V>, compiling).compile(compiling)
    const given = values as Record<PropertyKey, unknown>
    const parameters = compiled.parameters.map((value) =>
      value instanceof Placeholder ? given[value.name] : value,
    )
    return { ...compiled, parameters }
  }
  const run = (db: Db, values: V) => db.executeQuery(query(values))
  return Object.assign(run, { query })
}
