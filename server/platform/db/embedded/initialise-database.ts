import { PGlite } from '@electric-sql/pglite'

/** The program behind `createFolder`. */
const [, , folder] = process.argv
if (folder === undefined) throw new Error('Name the folder to create.')
const database = await PGlite.create({ dataDir: folder })
await database.close()
process.exit()
